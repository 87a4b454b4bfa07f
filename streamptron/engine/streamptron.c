/* The engine, compiled as one file. */

#define SP_ONE_FILE

#include "adaptive/adaptive.c"
#include "adaptive/bends.c"
#include "adaptive/columns.c"
#include "adaptive/machine.c"
#include "events/ahead.c"
#include "events/candidates.c"
#include "events/event.c"
#include "events/lines.c"
#include "events/matrix.c"
#include "events/pairs.c"
#include "events/tally.c"
#include "events/text.c"
#include "linear/calibrate.c"
#include "linear/linear.c"
#include "linear/powers.c"
#include "linear/rule.c"
#include "linear/serve.c"
#include "linear/step.c"
#include "linear/table.c"
#include "linear/verdict.c"
#include "machine.c"
#include "many/learn.c"
#include "many/machine.c"
#include "many/many.c"
#include "many/tree.c"
#include "mail/folding.c"
#include "mail/lower.c"
#include "mail/mail.c"
#include "memory/arena.c"
#include "memory/places.c"
#include "memory/pool.c"
#include "names/hash.c"
#include "names/index.c"
#include "names/letters.c"
#include "names/lookup.c"
#include "names/rising.c"
#include "names/scan.c"
#include "names/segments.c"
#include "path/batch.c"
#include "path/ceiling.c"
#include "path/gather.c"
#include "path/learner.c"
#include "path/path.c"
#include "rows/rows.c"
#include "sets/learn.c"
#include "sets/machine.c"
#include "sets/sets.c"
#include "voted/vote.c"
#include "voted/voted.c"
#include "voted/voters.c"
#include "wide/machine.c"
#include "wide/rows.c"

/* Merges: for size in the library, which is to stay small. */
#if defined(__GNUC__) && !defined(__clang__) && defined(SP_LIBRARY)
    #pragma GCC push_options
    #if __GNUC__ >= 12
        #pragma GCC optimize("Oz")
    #else
        #pragma GCC optimize("Os")
    #endif
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
#if defined(__GNUC__) && !defined(__clang__) && defined(SP_LIBRARY)
    #pragma GCC pop_options
#endif

/* What no event waits for, such as model files, explanations and steps taken back: compiled for
   size. So are the parts of a mail, whose words take the time. It comes last, so that no other
   room's inline functions are. */
#if defined(__GNUC__) && !defined(__clang__)
    #pragma GCC push_options
    #if __GNUC__ >= 12
        #pragma GCC optimize("Oz")
    #else
        #pragma GCC optimize("Os")
    #endif
#endif
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
#if defined(__GNUC__) && !defined(__clang__)
    #pragma GCC pop_options
#endif
