#pragma once
constexpr int kTile = 64;
