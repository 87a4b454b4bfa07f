-- The line filter for LuaJIT, as in a mail or log daemon: luajit filter.lua LIBRARY MODEL < texts
-- Exit code 0: the lines have ended; 1: the standard error says why not; 2: it was called wrongly.

local ffi = require("ffi")

ffi.cdef([[
typedef struct spt_model spt_model;
typedef struct spt_event spt_event;
typedef struct { size_t size; int code; int system; char words[512]; } spt_error;
typedef struct { size_t size; ptrdiff_t label; double score; double probability; } spt_answer;
int spt_open(const char *path, unsigned flags, spt_model **model, spt_error *error);
int spt_event_new(const spt_model *model, spt_event **event, spt_error *error);
int spt_event_text(spt_event *event, const char *text, size_t n, spt_error *error);
int spt_predict(const spt_model *model, spt_event *event, spt_answer *answer, spt_error *error);
const char *spt_label(const spt_model *model, size_t label, size_t *n);
void spt_event_free(spt_event *event);
void spt_close(spt_model *model);
]])

if #arg ~= 2 then
    io.stderr:write("usage: luajit filter.lua LIBRARY MODEL < texts\n")
    os.exit(2)
end

local SPT_MAPPED = 1
local spt = ffi.load(arg[1])
local failed = ffi.new("spt_error", { size = ffi.sizeof("spt_error") })

local function check(code)
    if code ~= 0 then
        io.stderr:write("filter: ", ffi.string(failed.words), "\n")
        os.exit(1)
    end
end

local model, event = ffi.new("spt_model *[1]"), ffi.new("spt_event *[1]")
check(spt.spt_open(arg[2], SPT_MAPPED, model, failed))
check(spt.spt_event_new(model[0], event, failed))

io.stdout:setvbuf("line") -- who has written a line waits for its answer
local answer = ffi.new("spt_answer", { size = ffi.sizeof("spt_answer") })
for line in io.lines() do
    check(spt.spt_event_text(event[0], line, #line, failed))
    check(spt.spt_predict(model[0], event[0], answer, failed))
    local label = answer.label >= 0 and ffi.string(spt.spt_label(model[0], answer.label, nil)) or ""
    print(string.format("%s\t%.4f", label, answer.probability))
end

spt.spt_event_free(event[0])
spt.spt_close(model[0])
