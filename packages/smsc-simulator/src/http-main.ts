#!/usr/bin/env node
import { refuseOldNode } from './refuse-old-node.ts'

refuseOldNode()
const { exitWith } = await import('./arguments.ts')
const { runHttpCommand } = await import('./http/command-line.ts')

await exitWith(runHttpCommand)
