
BxJ@Z@Z@Z@Z