import { readFileSync } from 'node:fs'
import type { ProviderFormat, ProviderMessage, Secrets } from './providers/provider.ts'

/** Line of a journal, as far as it says which receipts are owed. */
interface Line {
  readonly event: 'message' | 'callback'
  readonly decision?: string
  readonly kind?: string
  readonly status?: number
  readonly id?: string
  readonly to?: string
  readonly from?: string
  readonly text?: string
  readonly ownId?: string
  readonly callback?: string
}

/**
 * Returns the accepted messages of a journal of which no receipt was answered with 2xx, because the provider was killed
 * before. Returns none if there is no such file. The last line may be incomplete.
 */
export function owedMessages(path: string | undefined): readonly ProviderMessage[] {
  const lines = path === undefined ? [] : linesOf(path)
  const reported = new Set(
    lines.flatMap(({ kind, id, status = 500 }) => (kind === 'receipt' && status < 300 ? [id] : [])),
  )
  return lines.flatMap(({ event, decision, id, to = '', from = '', text = '', ownId, callback }) =>
    event === 'message' && decision === 'accepted' && id !== undefined && !reported.has(id)
      ? [{ id, to, from, text, ownId, callback, credentials: {} }]
      : [],
  )
}

function linesOf(path: string): readonly Line[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return []
  }
  return text.split('\n').flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as Line] : []))
}

/** Returns true if receipts can be signed with these secrets alone, without secrets from a request. */
export function canSign(format: ProviderFormat, message: ProviderMessage, secrets: Secrets, now: number): boolean {
  try {
    format.sign?.(format.receipt(message, 'delivered', message.callback ?? 'http://127.0.0.1'), secrets, now)
    return true
  } catch {
    return false
  }
}
