# shellcheck shell=bash
# shellcheck disable=SC2154 # root, media, work, attacca and server are set by those that source this
# The tests that `pulse` and `pipewire` share: what a sound server hears of Attacca. Sourced after lib.sh.

# hear NAME COMMAND…: records the server's sink into $work/NAME.wav while the command runs.
hear() {
  local name=$1
  shift
  timeout -k 10 120 "$root/scripts/with-$server" "$root/scripts/record-monitor" "$work/$name.wav" "$@"
}

# PulseAudio's null sink renders a block of 20 ms ahead; a stream that starts takes it back, but its monitor has told it
# already. So the first block of a recording may be missing, whoever plays; what follows is exact.
same_as() {
  local head=0
  [[ $server == pulse ]] && head=1024
  "$root/scripts/compare-pcm" --find --ignore-head "$head" "$@"
}

server_tests() {
  cd "$media" || exit 1

  # A folder is heard without a gap, in formats whose samples can be compared.
  expect "a folder plays" hear flac timeout 60 "$attacca" play --no-resume --output pulse flac
  expect "a folder is heard without a gap" same_as --error 0.01 --joint 61234 whole.wav "$work/flac.wav"
  expect "twenty pieces play" hear pieces timeout 90 "$attacca" play --no-resume --output pulse pieces/mp3
  expect "twenty pieces are heard without a gap" same_as --joints pieces/joints.txt pieces/whole.wav "$work/pieces.wav"
  expect "a mix of formats plays" hear mix timeout 60 "$attacca" play --no-resume --output pulse ogg/a.ogg mp3-itunsmpb/b.mp3
  expect "a mix of formats is heard without a gap" same_as --joint 61234 whole.wav "$work/mix.wav"

  # Faster and equalized: what is heard is what is rendered.
  expect "at 1.5 times the rate it renders" "$attacca" play --no-resume --rate 1.5 --eq bass+3 --output wav:"$work/fast.wav" flac
  expect "at 1.5 times the rate it plays" hear fast-heard timeout 60 "$attacca" play --no-resume --rate 1.5 --eq bass+3 \
    --output pulse flac
  expect "at 1.5 times the rate nothing is lost" same_as --error 0.01 "$work/fast.wav" "$work/fast-heard.wav"

  # Keys on a terminal of its own: pause is silent, resuming loses nothing, n goes on, q ends with 0.
  expect "keys: pause, resume, seek, skip, quit" timeout -k 10 120 "$root/scripts/with-$server" \
    "$root/Tests/System/support/keys.py" "$attacca"

  # No server at all: it says so and plays silently in real time.
  local code=0 said start=${EPOCHREALTIME/,/.}
  said=$(env PULSE_SERVER=unix:/nowhere/native timeout 30 "$attacca" play --no-resume flac </dev/null 2>&1) || code=$?
  if ((code != 0)); then
    not_ok "without a server it plays silently" "exit code $code: $said"
  elif awk "BEGIN { exit !(${EPOCHREALTIME/,/.} - $start < 2.8) }"; then
    not_ok "without a server it plays in real time" "3 s took less than 2.8 s"
  else
    ok "without a server it plays silently, in real time"
  fi
  if ((code == 0)) && ! grep -qi 'sil' <<<"$said"; then
    not_ok "without a server it says so" "it said: $said"
  else
    ok "without a server it says so"
  fi
}
