# bash completion for attacca(1)

_attacca() {
  local cur prev verb word
  cur=${COMP_WORDS[COMP_CWORD]}
  prev=${COMP_WORDS[COMP_CWORD - 1]}
  verb=${COMP_WORDS[1]}
  COMPREPLY=()

  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W 'play probe help --help --version' -- "$cur")
    return
  fi
  if [[ $verb == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W 'play probe help' -- "$cur")
    return
  fi
  if [[ $verb == probe ]]; then
    if [[ $cur == -* && " ${COMP_WORDS[*]:2:COMP_CWORD-2} " != *' -- '* ]]; then
      mapfile -t COMPREPLY < <(compgen -W '--json --help -h --version' -- "$cur")
    else
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
    return
  fi
  [[ $verb == play ]] || return

  # bash splits words at = and :, so a value may be several of them.
  local line=${COMP_LINE:0:COMP_POINT}
  word=${line##*[[:space:]]}
  if [[ $word == --*=* ]]; then
    prev=${word%%=*}
    cur=${word#*=}
  elif [[ $line =~ [[:space:]]--output[[:space:]]+([^[:space:]]*)$ ]]; then
    prev=--output
    cur=${BASH_REMATCH[1]}
  fi

  case $prev in
    --output)
      if [[ $cur == wav:* || $cur == pipe:* ]]; then
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "${cur#*:}")
      else
        mapfile -t COMPREPLY < <(compgen -W 'auto pulse silent wav: pipe:' -- "$cur")
        [[ ${COMPREPLY[*]} == *: ]] && compopt -o nospace
      fi
      return
      ;;
    --pcm)
      mapfile -t COMPREPLY < <(compgen -W 's16 s24 f32' -- "$cur")
      return
      ;;
    --repeat)
      mapfile -t COMPREPLY < <(compgen -W 'off one all' -- "$cur")
      return
      ;;
    --volume)
      mapfile -t COMPREPLY < <(compgen -W '0 25 50 75 100' -- "$cur")
      return
      ;;
    --replaygain)
      mapfile -t COMPREPLY < <(compgen -W 'off track album auto' -- "$cur")
      return
      ;;
    --rate)
      mapfile -t COMPREPLY < <(compgen -W '0.75 1 1.25 1.5 2' -- "$cur")
      return
      ;;
    --eq)
      mapfile -t COMPREPLY < <(compgen -W 'flat rock classical speech bass-boost treble-boost loudness bass+3' -- "$cur")
      return
      ;;
    --start | --track | --preamp | --balance | --crossfade) return ;;
  esac

  # After -- everything is a file.
  for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
    if [[ $word == -- ]]; then
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
    fi
  done

  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '--output --pcm --repeat --volume --rate --start --track --replaygain --preamp --eq --balance
      --mono --crossfade --skip-silence --level-speech --bit-perfect --no-resume --json --no-terminal --help -h --version' -- "$cur")
  else
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}

complete -F _attacca attacca
