// Streams, events, capture and graphs.

#include "runtime/cudasim/driver/State.h"

using namespace dlc::sim;

DLC_SIM_API cuStreamCreate(CUstream *stream, unsigned flags) {
  DLC_SIM_ENTER();
  *stream = new CUstream_st;
  (*stream)->flags = flags;
  (*stream)->number = ++state.numStreams;
  state.streams.insert(*stream);
  return CUDA_SUCCESS;
}
DLC_SIM_API cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int) { return cuStreamCreate(stream, flags); }
DLC_SIM_API cuStreamDestroy_v2(CUstream stream) {
  DLC_SIM_ENTER();
  if (!state.streams.count(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  CUresult code = state.finish(stream, stream->enqueued);
  for (CUevent event : state.events)
    if (event->point.stream == stream)
      event->point = {};
  // Others that wait for it need not any more: it is done.
  for (CUstream other : state.streams)
    for (QueuedWork &work : other->queue)
      if (work.after.stream == stream)
        work.after = {};
  for (QueuedWork &work : state.defaultStream.queue)
    if (work.after.stream == stream)
      work.after = {};
  state.streams.erase(stream);
  delete stream;
  return code;
}
DLC_SIM_API cuStreamSynchronize(CUstream stream) {
  DLC_SIM_ENTER();
  stream = state.find(stream);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  return stream->capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : state.synchronize(stream);
}
DLC_SIM_API cuStreamQuery(CUstream stream) { return cuStreamSynchronize(stream); }
DLC_SIM_API cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  DLC_SIM_ENTER();
  stream = state.find(stream);
  if (!stream || !state.events.count(event))
    return CUDA_ERROR_INVALID_HANDLE;
  if (event->capture) {
    // Waiting for what is captured joins the capture.
    stream->capture = event->capture;
    return CUDA_SUCCESS;
  }
  if (event->isRecorded && event->point.stream)
    state.waitFor(stream, event->point, event->clock);
  return CUDA_SUCCESS;
}
DLC_SIM_API cuEventCreate(CUevent *event, unsigned) {
  DLC_SIM_ENTER();
  *event = new CUevent_st;
  state.events.insert(*event);
  return CUDA_SUCCESS;
}
DLC_SIM_API cuEventDestroy_v2(CUevent event) {
  DLC_SIM_ENTER();
  if (!state.events.erase(event))
    return CUDA_ERROR_INVALID_HANDLE;
  delete event;
  return CUDA_SUCCESS;
}
DLC_SIM_API cuEventRecord(CUevent event, CUstream stream) {
  DLC_SIM_ENTER();
  stream = state.find(stream);
  if (!stream || !state.events.count(event))
    return CUDA_ERROR_INVALID_HANDLE;
  event->isRecorded = true;
  event->capture = stream->capture;
  event->point = {stream, stream->enqueued};
  event->clock = stream->clock;
  return CUDA_SUCCESS;
}
DLC_SIM_API cuEventSynchronize(CUevent event) {
  DLC_SIM_ENTER();
  if (!state.events.count(event))
    return CUDA_ERROR_INVALID_HANDLE;
  if (event->capture)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  state.noteWaited(event->clock);
  return event->point.stream ? state.finish(event->point.stream, event->point.sequence) : CUDA_SUCCESS;
}
DLC_SIM_API cuEventQuery(CUevent event) { return cuEventSynchronize(event); }
DLC_SIM_API cuStreamBeginCapture_v2(CUstream stream, int) {
  DLC_SIM_ENTER();
  stream = state.find(stream);
  if (!stream || stream == &state.defaultStream)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  stream->capture = new CUgraph_st;
  stream->isCaptureOrigin = true;
  return CUDA_SUCCESS;
}
DLC_SIM_API cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  DLC_SIM_ENTER();
  stream = state.find(stream);
  if (!stream || !stream->isCaptureOrigin)
    return CUDA_ERROR_ILLEGAL_STATE;
  *graph = stream->capture;
  for (CUstream other : state.streams)
    if (other->capture == *graph)
      other->capture = nullptr;
  for (CUevent event : state.events)
    if (event->capture == *graph) {
      event->capture = nullptr;
      event->isRecorded = false;
    }
  stream->isCaptureOrigin = false;
  return CUDA_SUCCESS;
}
DLC_SIM_API cuStreamIsCapturing(CUstream stream, int *status) {
  DLC_SIM_ENTER();
  stream = state.find(stream);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  *status = stream->capture != nullptr;
  return CUDA_SUCCESS;
}
DLC_SIM_API cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long) {
  DLC_SIM_ENTER();
  *exec = new CUgraphExec_st{graph->nodes};
  return CUDA_SUCCESS;
}
DLC_SIM_API cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  DLC_SIM_ENTER();
  for (const Work &node : exec->nodes)
    if (CUresult code = state.enqueue(stream, node))
      return code;
  return CUDA_SUCCESS;
}
DLC_SIM_API cuGraphExecDestroy(CUgraphExec exec) {
  ApiCall call;
  delete exec;
  return CUDA_SUCCESS;
}
DLC_SIM_API cuGraphDestroy(CUgraph graph) {
  ApiCall call;
  delete graph;
  return CUDA_SUCCESS;
}
DLC_SIM_API cuGraphGetNodes(CUgraph graph, void **, size_t *count) {
  ApiCall call;
  *count = graph->nodes.size();
  return CUDA_SUCCESS;
}
