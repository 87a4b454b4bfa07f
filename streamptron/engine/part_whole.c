/* A part of the engine: what no event passes through. */

/* Merges: for size in the library, which is to stay small. */
#ifdef SP_LIBRARY
SP_FOR_SIZE
#endif
#include "adaptive/mix.c"
#include "many/mix.c"
#include "sets/mix.c"
#include "whole/merge.c"
#include "whole/mix.c"
#include "whole/mix_rows.c"
#include "whole/mix_stay.c"
#include "whole/shard.c"
#include "wide/mix.c"
#ifdef SP_LIBRARY
SP_FOR_SIZE_END
#endif

/* What no event waits for, such as model files, explanations and steps taken back: compiled for
   size. So are the parts of a mail, whose words take the time. It comes last, so that no other
   room's inline functions are. */
SP_FOR_SIZE
#include "adaptive/tell.c"
#include "file/arrays.c"
#include "file/bytes.c"
#include "file/counts.c"
#include "file/crc.c"
#include "file/delta.c"
#include "file/header.c"
#include "file/json.c"
#include "file/numbers.c"
#include "file/open.c"
#include "file/parameters.c"
#include "file/plain.c"
#include "file/settings.c"
#include "file/tokens.c"
#include "file/united.c"
#include "file/values.c"
#include "file/words.c"
#include "file/write.c"
#include "linear/tell.c"
#include "mail/decode.c"
#include "mail/fields.c"
#include "mail/html.c"
#include "mail/parts.c"
#include "many/delta.c"
#include "many/former.c"
#include "many/pair.c"
#include "many/tell.c"
#include "many/undo.c"
#include "path/undo.c"
#include "rows/marks.c"
#include "sets/flat.c"
#include "sets/kept.c"
#include "sets/undo.c"
#include "voted/flat.c"
#include "voted/gather.c"
#include "voted/tell.c"
#include "whole/delta.c"
#include "whole/flat.c"
#include "whole/marked.c"
#include "whole/packed.c"
#include "wide/flat.c"
SP_FOR_SIZE_END
