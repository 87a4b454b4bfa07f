// The line filter in C++: filter MODEL < texts > labels.

#include "model.hpp"

#include <iostream>

int main(int argc, char **argv)
try {
    streamptron::Model model(argc > 1 ? argv[1] : "", SPT_MAPPED);
    for (std::string line; std::getline(std::cin, line);)
        std::cout << model.predict(line) << '\n';
} catch (const std::exception &error) {
    std::cerr << "filter: " << error.what() << '\n';
    return 1;
}
