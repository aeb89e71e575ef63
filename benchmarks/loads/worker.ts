/** Process that generates load, so that its cost is separate from what is measured. Started by workers.ts. */
import { jobs, type Jobs } from './jobs.ts'

interface Order {
  readonly job: keyof Jobs
  readonly options: never
}

process.on('message', ({ job, options }: Order) => void run(job, options))
// The parent process has ended.
process.on('disconnect', () => process.exit())
// Ctrl-C reaches every process of a terminal. The parent ends this process when it is done.
process.on('SIGINT', () => undefined)

async function run(job: keyof Jobs, options: never): Promise<void> {
  const before = process.cpuUsage()
  try {
    const result = await jobs[job](options)
    const { user, system } = process.cpuUsage(before)
    process.send?.({ ...result, cpu: user + system })
  } catch (error) {
    process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}
