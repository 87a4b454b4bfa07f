/* All parameters of the learners, and those of a Tokenizer and a Mail, in the order in which each
   has them. A file that includes this defines what SP_PARAMETER or SP_TOKEN does with a line. The
   engine checks parameters from a file or a C program, and adds the defaults (file/parameters.c,
   tokens.c). The doors check parameters from Python (doors/state.pyx); the command line, Spark and
   docs/parameters.md get theirs from the doors. A constructor's signature is written by hand;
   tests/doors/test_table.py compares it with this table.

       name, of    a letter for each learner that has it (learner/rule.c); T: Tokenizer, E: Mail
       kind        NUMBER, SPAN (a number of events), TRUTH, WORD, WORD_OR_NONE, COUNT (an int),
                   COUNT_OR_NONE, SEED, BY_LABEL ({label: number}), FIELDS (pairs of names),
                   NUMBER_OR_WORD, RANGE (two ints, by default twice the same), TEXT, or NAMES
       to          where it is in sp_parameters, or in sp_token_settings
       low, high   the bounds
       start       the default: a number, which of the words, or 0 for None; -1: the word beside a
                   number
       want        what it must be; of a WORD the words, between bars; of NUMBER_OR_WORD the word
                   comes after a bar
       needs       what must be given with it, as it would otherwise do nothing
       about       what it does, in a sentence */

#ifndef SP_PARAMETER
  #define SP_PARAMETER(name, of, kind, to, low, high, start, want, needs, about)
#endif
#ifndef SP_TOKEN
  #define SP_TOKEN(name, of, kind, low, high, start, want, about)
#endif

SP_PARAMETER(update, "R", WORD, rule.update, 0, 0, SP_UPDATE_PERCEPTRON,
             "margin|mistake|perceptron", "",
             "Whether steps are those of MIRA, of MIRA after mistakes only, or of the perceptron.")
SP_PARAMETER(margin, "PMR", NUMBER, rule.margin, 0, 1e50, 0,
             "a number of at least 0 and at most 1e+50", "",
             "Update if the score, or the right answer's lead, is at most this.")
SP_PARAMETER(C, "IR", NUMBER, rule.C, 1e-50, 1e50, 1, "a number above 0 and at most 1e+50", "",
             "The largest step.")
SP_PARAMETER(update, "I", WORD, rule.update, 0, 0, SP_UPDATE_MARGIN, "margin|mistake", "",
             "When to update: if the lead is below 1, or only after a mistake.")
SP_PARAMETER(r, "W", NUMBER, rule.r, 1e-50, 1e50, 1, "a number above 0 and at most 1e+50", "",
             "The noise of a label; larger values make smaller steps.")
SP_PARAMETER(eta, "AS", NUMBER, rule.eta, 1e-6, 1e6, 1,
             "a number of at least 1e-06 and at most 1e+06", "", "How far a step goes.")
SP_PARAMETER(forget, "A", NUMBER_OR_WORD, forget, 0, 1, -1,
             "a number of at least 0 and at most 1|auto", "",
             "How fast steps become large again after a change; auto: when the model makes more "
             "mistakes than it expects.")
SP_PARAMETER(forget, "S", NUMBER_OR_WORD, forget, 0, 1, 0x1p-10,
             "a number of at least 0 and at most 1", "",
             "How fast steps become large again after a change.")
SP_PARAMETER(threshold, "S", NUMBER_OR_WORD, threshold, 0, 1, 0.5,
             "a number above 0 and below 1, {label: number}|f1", "",
             "Predict labels above this probability; f1: the threshold with the best F1 so far.")
SP_PARAMETER(naive_bayes, "A", TRUTH, rule.naive_bayes, 0, 0, true, "True or False", "",
             "Use the naive Bayes log-odds as one more feature.")
SP_PARAMETER(shape, "A", WORD, rule.shape, 0, 0, SP_SHAPE_AUTO, "line|curve|auto", "",
             "How columns of numbers count: as lines, as curves too, or also as surfaces of two.")
SP_PARAMETER(degree, "V", COUNT, degree, 1, SP_DEGREE_MOST, 1, "an int from 1 to 16", "",
             "The degree of the kernel (1 + x.z)^degree.")
SP_PARAMETER(budget, "V", COUNT_OR_NONE, budget, 1, 2147483648.0, 0,
             "None or an int from 1 to 2147483648", "",
             "Keep at most this many updates; the oldest are forgotten.")
SP_PARAMETER(average, "PMIR", WORD, vectors.average, 0, 0, SP_AVERAGE_UNIFORM,
             "none|uniform|exponential", "", "The average kept beside the current weights.")
SP_PARAMETER(half_life, "PMIR", SPAN, vectors.halving, 1, 1e10, 1000,
             "a number of at least 1 event and at most 1e+10", "average=exponential",
             "The half-life of the exponential average, in events.")
SP_PARAMETER(pocket, "PMIR", TRUTH, vectors.pocket, 0, 0, false, "True or False", "",
             "Also keep the weights that made the fewest mistakes.")
SP_PARAMETER(serve, "PMIR", WORD, vectors.serve, 0, 0, SP_SERVE_BEST,
             "current|average|pocket|best", "", "Which weights answer.")
SP_PARAMETER(intercept, "PMIWAV", TRUTH, rule.intercept, 0, 0, true, "True or False", "",
             "Learn an intercept.")
SP_PARAMETER(class_weight, "PMIWAV", BY_LABEL, class_weight, 0, 1e50, 0,
             "None or a dict of label to weight", "", "Scale the steps for a label.")
SP_PARAMETER(false_positive_rate, "A", BY_LABEL, false_positive_rate, 0, 1, 0,
             "None or a dict of label to rate", "",
             "Predict a label for at most this share of the events of other labels.")
SP_PARAMETER(max_features, "PMIWARS", COUNT_OR_NONE, max_features, 1, 2147483648.0, 0,
             "None or an int from 1 to 2147483648", "",
             "Keep at most this many features; the least important are forgotten.")
SP_PARAMETER(max_labels, "MIWAVS", COUNT_OR_NONE, max_labels, 1, 2147483648.0, 0,
             "None or an int from 1 to 2147483648", "",
             "Allow at most this many labels; an event with one more is an error.")
SP_PARAMETER(hash_bits, "PMIWAVRS", COUNT_OR_NONE, hash_bits, 1, 30, 0,
             "None or an int from 1 to 30", "",
             "Keep no names: hash features to 2^hash_bits numbers.")
SP_PARAMETER(hash_seed, "PMIWAVRS", SEED, seed, 0, 18446744073709551615.0, 0,
             "None or an int from 0 to 18446744073709551615", "",
             "The seed of the hash, for runs that repeat; by default a random one.")
SP_PARAMETER(violators, "MI", WORD, rule.violators, 0, 0, SP_VIOLATORS_BEST,
             "best|uniform|proportional", "", "Which labels lose what the right one gains.")
SP_PARAMETER(degree, "PMIWARS", COUNT, degree, 1, 2, 1,
             "1, for features alone, or 2, for their pairs too", "",
             "2: also learn the pairs of all features of an event.")
SP_PARAMETER(interactions, "PMIWARS", FIELDS, interactions, 0, 0, 0,
             "None or a list of pairs of fields, such as [('user', 'ad')]", "",
             "Also learn the pairs of a feature of one field and a feature of another.")
SP_PARAMETER(max_pairs, "PMIWARS", COUNT, max_pairs, 1, 2147483648.0, 1000000,
             "an int from 1 to 2147483648", "", "Refuse an event that makes more pairs.")
SP_PARAMETER(missing, "PMIWAVRS", WORD, missing, 0, 0, 0, "skip|skip_nan|refuse", "",
             "Leave out None and empty values, NaN too, or refuse all of them.")

SP_TOKEN(analyzer, "T", WORD, 0, 0, 0, "word|char", "What tokens are made of: words or characters.")
SP_TOKEN(ngram_range, "T", RANGE, 1, 100, 1, "two ints (low, high), 1 <= low <= high <= 100",
         "Tokens are runs of this many words or characters.")
SP_TOKEN(lowercase, "T", TRUTH, 0, 0, true, "True or False",
         "Turn upper case into lower case.")
SP_TOKEN(separators, "T", TEXT, 0, 0, 0, "None or a str of characters that separate words",
         "What separates words.")
SP_TOKEN(min_length, "T", COUNT, 1, SP_LENGTH_MOST, 1, "an int of at least 1",
         "Leave out shorter words.")
SP_TOKEN(max_length, "T", COUNT_OR_NONE, 1, SP_LENGTH_MOST, 100,
         "None or an int of at least min_length", "Leave out longer words; none: no limit.")
SP_TOKEN(fold_numbers, "T", TRUTH, 0, 0, false, "True or False",
         "Replace numbers with <num>, <hex>, <ip>.")
SP_TOKEN(value, "T", WORD, 0, 0, 0, "presence|count|log", "The value of a token.")
SP_TOKEN(normalize, "T", WORD_OR_NONE, 0, 0, 0, "None|l2", "Scale events to length 1.")
SP_TOKEN(fields, "T", NAMES, 0, 0, 0, "None, a name, or a tuple of names",
         "The names of several texts of an event.")
SP_TOKEN(headers, "E", TRUTH, 0, 0, true, "True or False", "Read the words of header fields.")
SP_TOKEN(text, "E", TRUTH, 0, 0, true, "True or False", "Read the words of texts.")
SP_TOKEN(bytes, "E", COUNT, 0, SP_MAIL_BYTES_MOST, 3500, SP_MAIL_BYTES_WANT,
         "Take each run of four among this many first bytes; 0: none.")
SP_TOKEN(fold, "E", TRUTH, 0, 0, true, "True or False", "Fold letters that look alike.")

#undef SP_PARAMETER
#undef SP_TOKEN
