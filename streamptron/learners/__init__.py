"""The learners, and what makes their events of texts and mails."""
