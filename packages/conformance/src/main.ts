#!/usr/bin/env node
import { refuseOldNode } from './refuse-old-node.ts'

refuseOldNode()
const { runCommandLine } = await import('./command-line.ts')

const { argv, stdout, stderr } = process

process.exitCode = await runCommandLine(argv.slice(2), { out: stdout, err: stderr })
