// The line filter in C++: filter MODEL < texts > labels. Exit code 0: the lines have ended; 1: the
// standard error says why not; 2: it was called wrongly.

#include "model.hpp"

#include <iostream>

int main(int argc, char **argv)
try {
    if (argc != 2) {
        std::cerr << "usage: filter MODEL < texts\n";
        return 2;
    }
    streamptron::Model model(argv[1], SPT_MAPPED);
    for (std::string line; std::getline(std::cin, line);)
        std::cout << model.predict(line) << std::endl; // who has written the line waits for it
} catch (const std::exception &error) {
    std::cerr << "filter: " << error.what() << '\n';
    return 1;
}
