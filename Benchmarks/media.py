"""Files to measure with: made once by ffmpeg and lame, kept in a folder."""

import os
import subprocess

# Five-second blocks of a 1 kHz tone, soft and loud in turn, so that a jump of five seconds is heard as a change of level.
TONE = "aevalsrc='(0.3+0.3*mod(floor(t/5),2))*sin(2*PI*1000*t)':s=44100:d={seconds}"


def make(folder):
    os.makedirs(folder, exist_ok=True)

    def build(name, seconds, *options):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            source = TONE.format(seconds=seconds)
            command = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", source, "-ac", "2", *options]
            base, extension = os.path.splitext(path)
            partial = f"{base}.partial{extension}"
            subprocess.run([*command, partial], check=True)
            os.rename(partial, path)
        return path

    def music(name, *options):
        """Three minutes that are as hard to decode as music: chords that change over noise."""
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            chords = "0.1*(sin(2*PI*220*t*(1+floor(mod(t,4))/3))+sin(2*PI*277*t)+sin(2*PI*330*t))+0.1*(random(0)-0.5)"
            source = f"aevalsrc='{chords}|{chords.replace('random(0)', 'random(1)')}':s=44100:d=180"
            base, extension = os.path.splitext(path)
            partial = f"{base}.partial{extension}"
            subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", source, *options, partial], check=True)
            os.rename(partial, path)
        return path

    mp3 = ["-c:a", "libmp3lame"]
    return {
        "music-mp3": music("music.mp3", *mp3, "-b:a", "192k"),
        "music-flac": music("music.flac", "-c:a", "flac", "-sample_fmt", "s16"),
        "music-m4a": music("music.m4a", "-c:a", "aac", "-b:a", "192k"),
        "music-opus": music("music.opus", "-c:a", "libopus", "-b:a", "128k"),
        "mp3": build("tone.mp3", 1200, *mp3, "-b:a", "192k"),
        "flac": build("tone.flac", 1200, "-c:a", "flac"),
        "m4a": build("tone.m4a", 1200, "-c:a", "aac", "-b:a", "160k"),
        "vbr": build("tone-vbr.mp3", 1200, *mp3, "-q:a", "4"),
        "unindexed": build("tone-unindexed.mp3", 3600, *mp3, "-q:a", "4", "-write_xing", "0"),
    }
