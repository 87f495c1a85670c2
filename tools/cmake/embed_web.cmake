# Write the files of the page in IN, packed, as C arrays to OUT.
#   cmake -DIN=folder -DOUT=file -P embed_web.cmake
#
# All files stand under one address that is a hash of them all, so that modules
# name each other as they do in the folder and every answer may be kept for
# good. The start page says "@V@" where that hash belongs.
file(GLOB_RECURSE files RELATIVE "${IN}"
    "${IN}/*.html" "${IN}/*.css" "${IN}/*.js" "${IN}/*.svg")
list(SORT files)
set(sum "")
foreach(file IN LISTS files)
    file(SHA256 "${IN}/${file}" one)
    string(APPEND sum "${file} ${one}\n")
endforeach()
string(SHA256 hash "${sum}")
string(SUBSTRING "${hash}" 0 12 hash)

get_filename_component(work "${OUT}" DIRECTORY)
set(arrays "")
set(table "")
set(i 0)
foreach(file IN LISTS files)
    set(plain "${work}/web_file")
    set(packed "${work}/web_file.gz")
    if(file STREQUAL "index.html")
        file(READ "${IN}/${file}" text)
        string(REPLACE "@V@" "${hash}" text "${text}")
        file(WRITE "${plain}" "${text}")
    else()
        file(COPY_FILE "${IN}/${file}" "${plain}")
    endif()
    file(ARCHIVE_CREATE OUTPUT "${packed}" PATHS "${plain}" FORMAT raw
        COMPRESSION GZip COMPRESSION_LEVEL 9 MTIME "1970-01-01 00:00:00")
    file(READ "${packed}" hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND arrays "static const unsigned char file_${i}[] = {${bytes}};\n")
    string(APPEND table "    {\"${file}\", file_${i}, sizeof(file_${i})},\n")
    math(EXPR i "${i} + 1")
endforeach()
file(REMOVE "${plain}" "${packed}")
file(WRITE "${OUT}"
    "/* Made from web/ by embed_web.cmake. */\n"
    "#define WEB_HASH \"${hash}\"\n"
    "${arrays}"
    "static const struct web_file files[] = {\n${table}};\n")
