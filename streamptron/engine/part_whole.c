/* A part of the engine: what is not on the way of any event. */

#include "memory/compiler.h"

/* Model files, explanations, undoing and the parts of a mail, whose words are what takes time, are
   all compiled for size. In one file this comes last, so that it does not apply to other rooms'
   inline functions. */
#ifdef SP_ONE_FILE
SP_FOR_SIZE
#endif
#include "adaptive/report.c"
#include "file/arrays.c"
#include "json/bytes.c"
#include "file/counts.c"
#include "file/delta.c"
#include "file/header.c"
#include "json/json.c"
#include "json/numbers.c"
#include "file/open.c"
#include "file/parameters.c"
#include "json/plain.c"
#include "json/settings.c"
#include "file/tokens.c"
#include "json/united.c"
#include "json/values.c"
#include "json/words.c"
#include "file/write.c"
#include "linear/report.c"
#include "mail/charset.c"
#include "mail/charsets.c"
#include "mail/decode.c"
#include "mail/double.c"
#include "mail/entities.c"
#include "mail/entity.c"
#include "mail/fields.c"
#include "mail/glob.c"
#include "mail/html.c"
#include "mail/parameter.c"
#include "mail/parts.c"
#include "mail/tags.c"
#include "many/delta.c"
#include "many/two.c"
#include "many/report.c"
#include "many/undo.c"
#include "path/record.c"
#include "many/snapshot.c"
#include "rows/marks.c"
#include "multilabel/arrays.c"
#include "multilabel/snapshot.c"
#include "multilabel/undo.c"
#include "shapes/arrays.c"
#include "shapes/undo.c"
#include "voted/arrays.c"
#include "voted/gather.c"
#include "voted/report.c"
#include "table/arrays.c"
#include "machine/arrays.c"
#include "exchange/join.c"
#include "exchange/packed.c"
#include "wide/arrays.c"
#ifdef SP_ONE_FILE
SP_FOR_SIZE_END
#endif
