#!/usr/bin/env node
import '@gateway/operator/main'
