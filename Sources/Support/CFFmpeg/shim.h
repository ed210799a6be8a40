// What Swift cannot import of FFmpeg: macros with casts. Nothing else belongs here.
#pragma once
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>

static const int attacca_averror_eof = AVERROR_EOF;
static const int attacca_averror_eagain = AVERROR(EAGAIN);
static const int attacca_averror_eio = AVERROR(EIO);
static const int64_t attacca_nopts = AV_NOPTS_VALUE;
