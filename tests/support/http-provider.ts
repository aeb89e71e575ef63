import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import { spawnHttpProvider } from './process.ts'
import { journalOf } from './smsc.ts'

/** Line of the journal of `gateway-http-provider`, as far as tests need it. */
export interface ProviderLine {
  /** Time in ISO 8601. */
  readonly at: string
  readonly event: 'message' | 'callback'
  readonly to?: string
  readonly ownId?: string
  readonly id?: string
  /** Decision of the provider about a message. */
  readonly decision?: string
  /** Form of the answer to a message. */
  readonly answer?: string
}

/** Running `gateway-http-provider`. */
export interface RunningProvider {
  readonly port: number
  /** Returns the lines of its journal so far. */
  journal(): Promise<readonly ProviderLine[]>
  /** Returns the number of due callbacks without an answer 2xx or 4xx. */
  owes(): Promise<number>
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/**
 * Starts `gateway-http-provider` with an existing folder, by default on any free port. `settings` have the form
 * `receiptDelay=0`. A provider that is started again with its folder continues its
 * journal, and sends the receipts that it owes.
 */
export async function startProviderProcess(
  folder: string,
  provider: string,
  settings: readonly string[],
  port = 0,
): Promise<RunningProvider> {
  const file = join(folder, 'provider.jsonl')
  const place = ['--provider', provider, '--port', String(port), '--control-port', '0', '--journal', file]
  const running = spawnHttpProvider([...place, '--json', ...settings.flatMap((each) => ['--set', each])])
  const line = await until(() => {
    if (running.hasEnded()) throw new Error(`it has ended:\n${running.output()}`)
    return /^\{.*\}$/m.exec(running.output())?.[0]
  })
  const { url, control } = JSON.parse(line) as { readonly url: string; readonly control: string }
  return {
    port: Number(new URL(url).port),
    journal: journalOf<ProviderLine>(file),
    owes: async () => {
      const status = (await (await fetch(`${control}/status`)).json()) as { readonly callbacksWaiting: number }
      return status.callbacksWaiting
    },
    stop: running.stop,
  }
}
