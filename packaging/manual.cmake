# Put the program's own list of commands into the manual page.
execute_process(COMMAND ${CLEW} completion man OUTPUT_VARIABLE commands
    COMMAND_ERROR_IS_FATAL ANY)
file(READ ${IN} page)
string(REPLACE "@COMMANDS@" "${commands}" page "${page}")
file(WRITE ${OUT} "${page}")
