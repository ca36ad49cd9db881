#!/bin/sh
echo "no volume is left over"
