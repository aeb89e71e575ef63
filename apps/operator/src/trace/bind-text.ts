import type { TracedBind } from '@gateway/core/messages'
import type { Json } from '../output.ts'

/** Formats the SMPP bind over which a customer submitted a message. */
export function bindText({ credential, systemId, remote }: TracedBind): string {
  const name =
    systemId === undefined ? `removed SMPP credential ${credential}` : `${systemId}, SMPP credential ${credential}`
  return remote === undefined ? name : `${name}, from ${remote}`
}

export const bindJson = ({ credential, systemId, remote }: TracedBind): Json => ({
  credential,
  systemId: systemId ?? null,
  remote: remote ?? null,
})
