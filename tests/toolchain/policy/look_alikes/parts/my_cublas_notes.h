#pragma once
constexpr int kNotes = 0;
