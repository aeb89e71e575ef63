#!/usr/bin/env node
import { runCommand } from './command-line.ts'

try {
  await runCommand(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
