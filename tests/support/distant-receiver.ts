import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { until } from '@gateway/core/testing'
import type { ReceiverMode } from '../../packages/adapters-webhooks/testing/receiver.ts'

const main = fileURLToPath(new URL('receiver-process.ts', import.meta.url))
const hook = new URL('../../packages/embedded-postgres/testing/load-typescript.mjs', import.meta.url).href
const register = `import { register } from 'node:module'; register(${JSON.stringify(hook)})`

/** Receiver of webhooks in a process of its own. */
export interface DistantReceiver {
  readonly url: string
  /** Returns the number of requests since its start. */
  requests(): number
  /** Changes its mode from the next request on. */
  become(mode: ReceiverMode): Promise<void>
  close(): Promise<void>
}

export async function startDistantReceiver(): Promise<DistantReceiver> {
  const execArgv = ['--import', `data:text/javascript,${encodeURIComponent(register)}`]
  const child = fork(main, [], { execArgv, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let [url, requests, changes] = ['', 0, 0]
  child.on('message', (message: string) => {
    if (message === 'request') requests += 1
    else if (message === 'changed') changes += 1
    else url = message
  })
  await until(() => {
    if (child.exitCode !== null) throw new Error('the receiver did not start')
    return url !== ''
  })
  return {
    url,
    requests: () => requests,
    become: async (mode) => {
      const expected = changes + 1
      child.send(mode)
      await until(() => changes >= expected)
    },
    close: () => {
      child.kill('SIGKILL')
      return ended
    },
  }
}
