"""One module for each kind of file. They run in the child only, and yield what ``conversations.files.sections`` has."""
