# fish completion for attacca(1)

function __attacca_output
    set -l token (commandline -ct | string replace -r '^--output=' '')
    if string match -qr '^(wav|pipe):' -- $token
        set -l kind (string replace -r ':.*' ':' -- $token)
        for path in (__fish_complete_path (string replace -r '^[a-z]+:' '' -- $token))
            echo $kind$path
        end
    else
        printf '%s\t%s\n' auto 'the sound server, silence if there is none' \
            pulse 'the sound server, or failure' \
            silent 'silence in real time' \
            wav: 'a WAV file' \
            pipe: 'a PCM pipe'
    end
end

complete -c attacca -f
complete -c attacca -n __fish_use_subcommand -a play -d 'Play files and folders'
complete -c attacca -n __fish_use_subcommand -a probe -d 'Say what files are'
complete -c attacca -n __fish_use_subcommand -a help -d 'Explain a verb'
complete -c attacca -n __fish_use_subcommand -s h -l help -d 'Explain the command'
complete -c attacca -n __fish_use_subcommand -l version -d 'Print the version'
complete -c attacca -n '__fish_seen_subcommand_from help' -a 'play probe help'

complete -c attacca -n '__fish_seen_subcommand_from probe' -F
complete -c attacca -n '__fish_seen_subcommand_from probe' -l json -d 'Print JSON'
complete -c attacca -n '__fish_seen_subcommand_from probe' -s h -l help -d 'Explain the options'
complete -c attacca -n '__fish_seen_subcommand_from probe' -l version -d 'Print the version'

complete -c attacca -n '__fish_seen_subcommand_from play' -F
complete -c attacca -n '__fish_seen_subcommand_from play' -l output -x -a '(__attacca_output)' -d 'Where sound goes'
complete -c attacca -n '__fish_seen_subcommand_from play' -l pcm -x -a 's16 s24 f32' -d 'What a pipe carries'
complete -c attacca -n '__fish_seen_subcommand_from play' -l repeat -x -a 'off one all' -d 'What follows the end'
complete -c attacca -n '__fish_seen_subcommand_from play' -l volume -x -a '0 25 50 75 100' -d 'Loudness in per cent'
complete -c attacca -n '__fish_seen_subcommand_from play' -l rate -x -a '0.75 1 1.25 1.5 2' -d 'How fast, with the pitch kept'
complete -c attacca -n '__fish_seen_subcommand_from play' -l replaygain -x -a 'off track album auto' -d 'Level by loudness tags'
complete -c attacca -n '__fish_seen_subcommand_from play' -l preamp -x -d 'Gain for tagged items, in decibels'
complete -c attacca -n '__fish_seen_subcommand_from play' -l eq -x -a 'flat rock classical speech bass-boost treble-boost loudness bass+3' -d 'Equalizer'
complete -c attacca -n '__fish_seen_subcommand_from play' -l balance -x -d 'Left or right, in per cent'
complete -c attacca -n '__fish_seen_subcommand_from play' -l mono -d 'The same sound from both sides'
complete -c attacca -n '__fish_seen_subcommand_from play' -l crossfade -x -a '0 2 5 10' -d 'Seconds that items sound together'
complete -c attacca -n '__fish_seen_subcommand_from play' -l skip-silence -d 'Pass over long silence'
complete -c attacca -n '__fish_seen_subcommand_from play' -l level-speech -d 'Bring voices to one level'
complete -c attacca -n '__fish_seen_subcommand_from play' -l bit-perfect -d 'Samples untouched'
complete -c attacca -n '__fish_seen_subcommand_from play' -l start -x -d 'Where the first item begins'
complete -c attacca -n '__fish_seen_subcommand_from play' -l track -x -a '1 2 3' -d 'Which of several sound tracks'
complete -c attacca -n '__fish_seen_subcommand_from play' -l no-resume -d 'Begin at the beginning'
complete -c attacca -n '__fish_seen_subcommand_from play' -l json -d 'Print events as JSON'
complete -c attacca -n '__fish_seen_subcommand_from play' -l no-terminal -d 'Plain lines and no keys'
complete -c attacca -n '__fish_seen_subcommand_from play' -s h -l help -d 'Explain the options'
complete -c attacca -n '__fish_seen_subcommand_from play' -l version -d 'Print the version'
