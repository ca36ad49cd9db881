#!/bin/sh
echo "the cluster answers as $VERSION"
