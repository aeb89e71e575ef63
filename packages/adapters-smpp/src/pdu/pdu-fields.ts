import { COMMAND_ID } from './command-id.ts'
import { commandStatusName } from './command-status.ts'
import type { ReceivedPdu } from './received-pdu.ts'
import type { Tlv } from './tlv.ts'
import { tlvName } from './tlv-tag.ts'

/**
 * The fields of a PDU as people and programs read them: octets are hexadecimal, the status and the tags have the names of the standard. A
 * status of 0 and no TLVs are left out, a password is masked.
 */
export function pduFields(pdu: ReceivedPdu): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(pdu)) {
    const text = shown(name, value)
    if (text !== undefined) fields[name] = text
  }
  if (pdu.command in COMMAND_ID && pdu.status === 0) delete fields['status']
  if ('password' in fields) fields['password'] = '***'
  return fields
}

function shown(name: string, value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString('hex')
  if (name === 'status') return commandStatusName(value as number)
  if (name !== 'tlvs') return value
  const tlvs = value as readonly Tlv[]
  return tlvs.length === 0 ? undefined : tlvs.map(({ tag, value: octets }) => [tlvName(tag), octets.toString('hex')])
}
