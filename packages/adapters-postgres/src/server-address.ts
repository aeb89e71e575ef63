import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ConnectionOptions } from 'node:tls'

/** What this module sets of them: certificates and keys as text. */
export type DatabaseTls = ConnectionOptions & { readonly ca?: string; readonly cert?: string }

/** Where a server is and how to speak to it, without a secret that a log could show. */
export interface ServerAddress {
  /** The URL without what is said about TLS. */
  readonly connectionString: string
  /** What node's TLS needs; undefined: none. */
  readonly tls: DatabaseTls | undefined
  /** Without TLS where the server has none. */
  readonly plainIfRefused: boolean
}

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type Mode = (typeof modes)[number]
type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads `sslmode`, `sslrootcert`, `sslcert` and `sslkey` of a URL, else `PGSSLMODE`, `PGSSLROOTCERT`, `PGSSLCERT` and
 * `PGSSLKEY`, as libpq does (PostgreSQL documentation, "SSL Support"), with these differences: `allow` is `prefer`; who
 * prefers TLS does not try without it when the server has it and refuses the connection; and without a certificate of
 * an authority, `verify-full` trusts those that node trusts (libpq: `sslrootcert=system`). A Unix socket never has TLS.
 *
 * Throws an Error that names the option for a mode that is not one, a file that cannot be read, and `verify-ca` without
 * an authority.
 */
export function serverAddress(connectionString: string, env: Environment = process.env): ServerAddress {
  const [place = '', query = ''] = connectionString.split(/\?(.*)/s)
  const parameters = new URLSearchParams(query)
  const taken = (name: string): string | undefined => {
    const value = parameters.get(name) ?? env[`PG${name.toUpperCase()}`]
    parameters.delete(name)
    return value === undefined || value === '' ? undefined : value
  }
  const mode = modeOf(taken('sslmode') ?? 'prefer')
  const files = { root: taken('sslrootcert'), cert: taken('sslcert'), key: taken('sslkey') }
  const rest = parameters.toString().replaceAll('+', '%20')
  const isSocket = /^\/|^%2f/i.test(parameters.get('host') ?? hostOf(place, env))
  return {
    connectionString: rest === '' ? place : `${place}?${rest}`,
    tls: isSocket || mode === 'disable' ? undefined : tlsOf(mode, files),
    plainIfRefused: mode === 'prefer' || mode === 'allow',
  }
}

/** The certificates in PEM that an option names. */
export interface DatabaseCertificates {
  readonly of: string
  readonly are: 'chain' | 'authorities'
  readonly pem: string
}

/** The certificates that it names, in PEM, each with the option. */
export const certificatesOf = ({ tls }: ServerAddress): readonly DatabaseCertificates[] => [
  ...(tls?.ca === undefined ? [] : [{ of: 'database sslrootcert', are: 'authorities' as const, pem: tls.ca }]),
  ...(tls?.cert === undefined ? [] : [{ of: 'database sslcert', are: 'chain' as const, pem: tls.cert }]),
]

const hostOf = (place: string, env: Environment): string =>
  /^[a-z]+:\/\/(?:[^@/]*@)?([^/:?]*)/i.exec(place)?.[1] || (env['PGHOST'] ?? '')

function modeOf(text: string): Mode {
  const mode = modes.find((known) => known === text)
  if (mode === undefined) throw new Error(`sslmode is ${JSON.stringify(text)}; expected one of ${modes.join(', ')}`)
  return mode
}

interface Files {
  readonly root: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
}

function tlsOf(mode: Mode, { root, cert, key }: Files): DatabaseTls {
  const usual = join(homedir(), '.postgresql', 'root.crt')
  const file = root ?? (existsSync(usual) ? usual : undefined)
  const authority = file === undefined || file === 'system' ? undefined : readOf('sslrootcert', file)
  if (mode === 'verify-ca' && authority === undefined) {
    throw new Error('sslmode=verify-ca needs the certificate of an authority: name its file in sslrootcert')
  }
  const verifies = mode === 'verify-ca' || mode === 'verify-full' || (mode === 'require' && authority !== undefined)
  return {
    ...(authority !== undefined && { ca: authority }),
    ...(cert !== undefined && { cert: readOf('sslcert', cert) }),
    ...(key !== undefined && { key: readOf('sslkey', key) }),
    rejectUnauthorized: verifies,
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  }
}

function readOf(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`${option}: the file ${file} cannot be read`, { cause: error })
  }
}
