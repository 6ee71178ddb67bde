/* A reviewer for the tests on Windows: it writes the review that its prompt asks for, and finds
   nothing to object to. With a file `hang` in its folder, it says that it is there, and never ends. */
#include <stdio.h>
#include <string.h>
#include <windows.h>

int main(int count, char **words) {
    static const char asked[] = "Write your review to ";
    char *prompt = words[count - 1];
    char *file = strstr(prompt, asked);
    if (!file) {
        fprintf(stderr, "the prompt names no file\n");
        return 1;
    }
    if (GetFileAttributesA("hang") != INVALID_FILE_ATTRIBUTES) {
        fclose(fopen("hangs", "wb"));
        Sleep(INFINITE);
    }
    file += sizeof asked - 1;
    file[strcspn(file, " ,\n")] = 0;
    FILE *review = fopen(file, "wb");
    if (!review) {
        perror(file);
        return 1;
    }
    fputs("# Review\n", review);
    fclose(review);
    puts("{\"type\":\"result\",\"result\":\"\",\"structured_output\":{\"verdict\":\"PASS\",\"findings\":[],\"earlier\":[]}}");
    return 0;
}
