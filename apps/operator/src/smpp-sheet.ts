import type { RepliesBy, SmppCredential } from '@gateway/core/smpp-customers'
import { receiptExample, smppSheet, type SheetRow } from '@gateway/wire'

/** Addresses of the gateway for customers, and who gets the replies of the account. */
export interface SheetFacts {
  readonly host: string
  readonly port: number
  readonly tlsPort: number | undefined
  readonly replies: RepliesBy
}

/** Formats a credential as a sheet that an operator sends to a customer. The password is not on it. */
export function customerSheet(credential: SmppCredential, { host, port, tlsPort, replies }: SheetFacts): string {
  const rows: readonly SheetRow[] = [
    ['Host', host],
    ['Port', String(port)],
    ['Port with TLS', tlsPort === undefined ? 'not offered' : `${tlsPort} (TLS 1.2 or later)`],
    ...smppSheet(credential, replies),
  ]
  const width = Math.max(...rows.map(([name]) => name.length)) + 2
  return `${rows.map(([name, value]) => name.padEnd(width) + value).join('\n')}\n\nA receipt:\n  ${receiptExample}`
}
