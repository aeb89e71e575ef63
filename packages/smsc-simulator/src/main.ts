#!/usr/bin/env node
import { refuseOldNode } from './refuse-old-node.ts'

refuseOldNode()
const { exitWith } = await import('./arguments.ts')
const { runCommand } = await import('./command-line.ts')

await exitWith(runCommand)
