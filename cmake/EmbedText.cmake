# Called as a script: text files to a C++ header with one constant string.
#   cmake -DINPUTS=a;b -DNAME=kFoo -DNAMESPACE=x -DOUTPUT=o.h -P EmbedText.cmake
# Compilers limit the length of one literal, so each line is a literal of its own.
set(text "// Made from ${INPUTS}.\n#pragma once\nnamespace ${NAMESPACE} {\ninline constexpr char ${NAME}[] =\n")
foreach(input IN LISTS INPUTS)
  file(READ ${input} content)
  string(REPLACE "\\" "\\\\" content "${content}")
  string(REPLACE "\"" "\\\"" content "${content}")
  string(REPLACE "\n" "\\n\"\n\"" content "${content}")
  string(APPEND text "\"${content}\"\n")
endforeach()
string(APPEND text ";\n} // namespace ${NAMESPACE}\n")
file(WRITE ${OUTPUT} "${text}")
