#!/usr/bin/env node
import { runCommandLine } from './command-line.ts'

const { argv, stdout, stderr } = process

process.exitCode = await runCommandLine(argv.slice(2), { out: stdout, err: stderr })
