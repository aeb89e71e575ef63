export { runCommandLine, type ExitCode, type Host, type Opened } from './run-command-line.ts'
export type { Input } from './command.ts'
