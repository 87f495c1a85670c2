# Write the migrations in IN as C arrays to OUT.
#   cmake -DIN=folder -DOUT=file -P embed_migrations.cmake
file(GLOB files "${IN}/*.sql")
list(SORT files)
set(arrays "")
set(table "")
foreach(file IN LISTS files)
    get_filename_component(stem "${file}" NAME_WE)
    if(NOT stem MATCHES "^([0-9][0-9][0-9][0-9])_([a-z_]+)$")
        message(FATAL_ERROR "${file}: expected NNNN_name.sql")
    endif()
    set(digits "${CMAKE_MATCH_1}")
    set(name "${CMAKE_MATCH_2}")
    string(REGEX REPLACE "^0+" "" number "${digits}")
    file(READ "${file}" hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND arrays
        "static const unsigned char sql_${digits}[] = {${bytes}};\n")
    string(APPEND table
        "    {${number}, \"${name}\", sql_${digits}, sizeof(sql_${digits})},\n")
endforeach()
file(WRITE "${OUT}"
    "/* Made from src/store/migrations by embed_migrations.cmake. */\n"
    "${arrays}"
    "static const struct migration migrations[] = {\n${table}};\n")
