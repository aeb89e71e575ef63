import { FIELD_SIZE } from './constants.ts'
import { fail, integer, lastText, octet, octets, text, type Cursor } from './cursor.ts'
import type { MultiDestination, UnsuccessSme } from './pdu.ts'
import { putInteger, putMessage, putOctet, putText, type Sink } from './sink.ts'

/** One mandatory parameter of a PDU: how to read it from a body and how to write it. */
export interface Field<T> {
  /** Value of the parameter in a response without a body. */
  readonly absent: T
  read(from: Cursor): T
  write(to: Sink, value: T): void
}

/** Integer of one octet. */
export const octetField: Field<number> = { absent: 0, read: octet, write: putOctet }

/** Integer of four octets. */
const integerField: Field<number> = { absent: 0, read: integer, write: putInteger }

/** C-octet string of at most `sizeMax` octets with its NUL. Without a bound it may reach to the end of the PDU. */
export const textField = (sizeMax = Infinity): Field<string> => ({
  absent: '',
  read: (from) => text(from, sizeMax),
  write: (to, value) => putText(to, value, sizeMax),
})

/**
 * C-octet string at the end of a response. Accepts any length and a missing NUL when reading, because many peers send
 * such strings.
 */
export const lastTextField = (sizeMax: number): Field<string> => ({ ...textField(sizeMax), read: lastText })

/** Parameters sm_length and short_message. */
export const messageField: Field<Buffer> = {
  absent: Buffer.alloc(0),
  read: (from) => octets(from, octet(from), 'message-too-long'),
  write: putMessage,
}

/** Count of one octet, followed by that number of items. Reading stops at the first incomplete item. */
const listField = <T>({ read, write }: Pick<Field<T>, 'read' | 'write'>): Field<readonly T[]> => ({
  absent: [],
  read(from) {
    const items: T[] = []
    for (let missing = octet(from); missing > 0 && from.problem === undefined; missing--) items.push(read(from))
    return items
  },
  write(to, items) {
    putOctet(to, items.length)
    for (const item of items) write(to, item)
  },
})

/** Parameters source_addr_ton, source_addr_npi and source_addr. */
export const sourceFields = (sizeMax: number) => ({
  sourceAddrTon: octetField,
  sourceAddrNpi: octetField,
  sourceAddr: textField(sizeMax),
})

/** Parameters dest_addr_ton, dest_addr_npi and destination_addr. */
export const destinationFields = {
  destAddrTon: octetField,
  destAddrNpi: octetField,
  destinationAddr: textField(FIELD_SIZE.address),
}

type Address = Exclude<MultiDestination, { distributionList: string }>

const readAddress = (from: Cursor): Address => ({
  destAddrTon: octet(from),
  destAddrNpi: octet(from),
  destinationAddr: text(from, FIELD_SIZE.address),
})

function writeAddress(to: Sink, { destAddrTon, destAddrNpi, destinationAddr }: Address): void {
  putOctet(to, destAddrTon)
  putOctet(to, destAddrNpi)
  putText(to, destinationAddr, FIELD_SIZE.address)
}

/** Values of dest_flag (SMPP 3.4, 5.2.25). */
const DEST_FLAG = { address: 1, distributionList: 2 } as const

/** Parameters number_of_dests and dest_address of submit_multi (SMPP 3.4, 4.5.1.1). */
export const destinationsField = listField<MultiDestination>({
  read(from) {
    const flag = octet(from)
    if (flag === DEST_FLAG.address) return readAddress(from)
    if (flag !== DEST_FLAG.distributionList) fail(from, 'destination-flag')
    return { distributionList: text(from, FIELD_SIZE.distributionList) }
  },
  write(to, destination) {
    if ('distributionList' in destination) {
      putOctet(to, DEST_FLAG.distributionList)
      putText(to, destination.distributionList, FIELD_SIZE.distributionList)
    } else {
      putOctet(to, DEST_FLAG.address)
      writeAddress(to, destination)
    }
  },
})

/** Parameters no_unsuccess and unsuccess_sme of submit_multi_resp (SMPP 3.4, 4.5.2.1). */
export const unsuccessSmesField = listField<UnsuccessSme>({
  read: (from) => ({ ...readAddress(from), errorStatusCode: integerField.read(from) }),
  write(to, sme) {
    writeAddress(to, sme)
    putInteger(to, sme.errorStatusCode)
  },
})
