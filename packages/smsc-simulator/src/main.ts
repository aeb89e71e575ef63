#!/usr/bin/env node
import { refuseOldNode } from './refuse-old-node.ts'

refuseOldNode()
const { runCommand, WrongCall } = await import('./command-line.ts')

try {
  await runCommand(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = error instanceof WrongCall ? 2 : 1
}
