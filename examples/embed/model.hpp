// A model and an event that free themselves, and throw what the library says.

#pragma once

#include "streamptron.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace streamptron {

struct Close {
    void operator()(spt_model *model) const { spt_close(model); }
    void operator()(spt_event *event) const { spt_event_free(event); }
};

class Model {
public:
    explicit Model(const std::string &path, unsigned flags = 0)
    {
        spt_model *model = nullptr;
        check([&](spt_error *error) { return spt_open(path.c_str(), flags, &model, error); });
        model_.reset(model);
        spt_event *event = nullptr;
        check([&](spt_error *error) { return spt_event_new(model, &event, error); });
        event_.reset(event); // one thread's: a second thread needs one of its own
    }
    std::string predict(std::string_view text)
    {
        spt_answer answer = SPT_ANSWER;
        write(text);
        check([&](spt_error *error) {
            return spt_predict(model_.get(), event_.get(), &answer, error);
        });
        return answer.label < 0 ? "" : spt_label(model_.get(), size_t(answer.label), nullptr);
    }
    void learn(std::string_view text, std::string_view label, double weight = 1.0)
    {
        write(text);
        check([&](spt_error *error) {
            return spt_learn_as(model_.get(), event_.get(), label.data(), label.size(), weight,
                                error);
        });
    }
    void save(const std::string &path) const
    {
        check([&](spt_error *error) { return spt_save(model_.get(), path.c_str(), error); });
    }

private:
    void write(std::string_view text)
    {
        check([&](spt_error *error) {
            return spt_event_text(event_.get(), text.data(), text.size(), error);
        });
    }
    template <typename Call> static void check(Call call)
    {
        spt_error error = SPT_ERROR;
        if (call(&error) != SPT_OK)
            throw std::runtime_error(error.words);
    }
    std::unique_ptr<spt_model, Close> model_;
    std::unique_ptr<spt_event, Close> event_; // freed before the model
};

} // namespace streamptron
