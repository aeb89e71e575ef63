import { simulatedCarrierFromUrl } from '@gateway/adapters-simulator'
import { smppCarrierFromUrl } from '@gateway/adapters-smpp'
import { carrierId, type Carrier } from '@gateway/core'

interface Place {
  /** Where a carrier may keep files of its own. */
  readonly dataDir: string
  readonly report: (problem: unknown) => void
}

type Maker = (url: string, id: string, place: Place) => Carrier

const MAKERS: Readonly<Record<string, Maker>> = {
  smpp: (url, id, { report }) => smppCarrierFromUrl(url, { id, report }),
  smpps: (url, id, { report }) => smppCarrierFromUrl(url, { id, report }),
  simulator: (url, id, { dataDir, report }) => simulatedCarrierFromUrl(url, { folder: `${dataDir}/${id}`, id, report }),
}

/**
 * The carriers that `CARRIERS` names, separated by `,`: `simulator:`, `smpp://…` or `smpps://…`, or `name=simulator:?delayMs=0` for a name
 * of one's own. Throws an Error that says what is wrong, without a password.
 */
export function carriersFrom(text: string, place: Place): readonly Carrier[] {
  const named = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(nameAndUrl)
  const twice = named.find(({ id }, at) => named.findIndex((other) => other.id === id) < at)
  if (twice !== undefined) throw new Error(`CARRIERS names two carriers ${JSON.stringify(twice.id)}.`)
  if (named.length === 0) throw new Error('CARRIERS names no carrier; the default is simulator:')
  return named.map(({ id, url, maker }) => maker(url, id, place))
}

function nameAndUrl(entry: string): { id: string; url: string; maker: Maker } {
  const [, name, url = '', scheme = ''] = /^(?:([^=:?]*)=)?(([^:]*):.*)$/s.exec(entry) ?? []
  const maker = Object.hasOwn(MAKERS, scheme) ? MAKERS[scheme] : undefined
  const id = name ?? scheme
  if (maker === undefined) {
    const known = Object.keys(MAKERS).map((each) => `${each}:`)
    throw new Error(`CARRIERS: the entry for ${JSON.stringify(id)} is of no known kind; there is ${known.join(', ')}.`)
  }
  if (carrierId(id) === undefined) {
    throw new Error(`CARRIERS: ${JSON.stringify(id)} is no name for a carrier: 1 to 32 of a-z, 0-9 and -.`)
  }
  return { id, url, maker }
}
