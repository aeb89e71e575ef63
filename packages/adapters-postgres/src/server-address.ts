import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ConnectionOptions } from 'node:tls'

/** What this module sets of them: certificates and keys as text. */
export type DatabaseTls = ConnectionOptions & { readonly ca?: string; readonly cert?: string }

/** A name, an IP address or the folder of a Unix socket, with the port. */
export interface Host {
  readonly host: string
  readonly port: number
}

/** Where a server is and how to speak to it, without a secret that a log could show. */
export interface ServerAddress {
  /** The URL without what is said about TLS, and with the first host only. */
  readonly connectionString: string
  /** In the order of the URL; at least one. */
  readonly hosts: readonly Host[]
  /** Whether a connection counts only if its server takes writes. */
  readonly isPrimaryWanted: boolean
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
 * Several hosts are read as libpq reads them ("Specifying Multiple Hosts"), else those of `PGHOST` and `PGPORT`; and
 * `target_session_attrs`, else `PGTARGETSESSIONATTRS`: `read-write` and `primary` want a server that takes writes. With
 * several hosts that is always wanted (libpq: only if it is said), since a gateway can do nothing with another one.
 *
 * Throws an Error that names the option for a mode that is not one, a file that cannot be read or has something else,
 * `verify-ca` without an authority, ports that are not as many as hosts, and a wish for a server that only reads.
 */
export function serverAddress(connectionString: string, env: Environment = process.env): ServerAddress {
  const [place = '', query = ''] = connectionString.split(/\?(.*)/s)
  const parameters = new URLSearchParams(query)
  const taken = (name: string): string | undefined => {
    const value = parameters.get(name) ?? env[`PG${name.toUpperCase().replaceAll('_', '')}`]
    parameters.delete(name)
    return value === undefined || value.trim() === '' ? undefined : value
  }
  const files = { root: taken('sslrootcert'), cert: taken('sslcert'), key: taken('sslkey') }
  const mode = modeOf(taken('sslmode'), files.root)
  const isPrimaryWanted = wantsPrimary(taken('target_session_attrs') ?? 'any')
  const hosts = hostsOf(place, parameters, env)
  if (hosts.length > 1) {
    parameters.delete('host')
    parameters.delete('port')
  }
  const rest = parameters.toString().replaceAll('+', '%20')
  const isSocket = hosts.every(({ host }) => host.startsWith('/'))
  const first = hosts.length > 1 ? place.replace(authority, `$1${nowhere}`) : place
  return {
    connectionString: rest === '' ? first : `${first}?${rest}`,
    hosts,
    isPrimaryWanted: isPrimaryWanted || hosts.length > 1,
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

/** What a URL has before its path: the user, and the hosts with their ports. */
const authority = /^([a-z]+:\/\/(?:[^@/]*@)?)([^/?]*)/i

/** The driver takes one host; each connection gets its own before it is made (`primary.ts`). */
const nowhere = 'several.invalid'

const defaultPort = '5432'

/** A host or port of the query wins over that before the path, and that over the environment. */
function hostsOf(place: string, parameters: URLSearchParams, env: Environment): readonly Host[] {
  const placed = (authority.exec(place)?.[2] ?? '').split(',').map((text) => {
    const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(text) ?? []
    return { host: decodeURIComponent(host.replace(/^\[(.*)\]$/, '$1')), port }
  })
  const given = (name: string, own: readonly string[]) =>
    parameters.get(name)?.split(',') ?? (own.some(Boolean) ? own : (env[`PG${name.toUpperCase()}`] ?? '').split(','))
  const hosts = given('host', placed.map(({ host }) => host)) // prettier-ignore
  const ports = given('port', placed.map(({ port }) => port)) // prettier-ignore
  if (ports.length > 1 && ports.length !== hosts.length)
    throw new Error(`the database has ${hosts.length} hosts and ${ports.length} ports; give one port, or one for each`)
  return hosts.map((host, at) => ({
    host: host || 'localhost',
    port: Number((ports.length > 1 ? ports[at] : ports[0]) || defaultPort),
  }))
}

function wantsPrimary(text: string): boolean {
  if (text === 'any') return false
  if (text === 'read-write' || text === 'primary') return true
  throw new Error(
    `target_session_attrs is ${JSON.stringify(text)}; expected read-write, primary or any: the gateway writes`,
  )
}

/** Who trusts the authorities of the system has to compare the name too: anybody gets a certificate for some name. */
function modeOf(given: string | undefined, root: string | undefined): Mode {
  const text = given ?? (root === 'system' ? 'verify-full' : 'prefer')
  const mode = modes.find((known) => known === text)
  if (mode === undefined) throw new Error(`sslmode is ${JSON.stringify(text)}; expected one of ${modes.join(', ')}`)
  if (root === 'system' && mode !== 'verify-full')
    throw new Error(`sslmode=${mode} is too weak for sslrootcert=system, which needs verify-full`)
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
  const authority = file === undefined || file === 'system' ? undefined : certificateOf('sslrootcert', file)
  if (mode === 'verify-ca' && authority === undefined) {
    throw new Error('sslmode=verify-ca needs the certificate of an authority: name its file in sslrootcert')
  }
  const verifies = mode === 'verify-ca' || mode === 'verify-full' || (mode === 'require' && authority !== undefined)
  return {
    ...(authority !== undefined && { ca: authority }),
    ...(cert !== undefined && ownOf(cert, key)),
    rejectUnauthorized: verifies,
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  }
}

/** What the server may know the gateway by. */
function ownOf(certFile: string, keyFile: string | undefined): { readonly cert: string; readonly key: string } {
  const cert = certificateOf('sslcert', certFile)
  if (keyFile === undefined) throw new Error('sslcert needs its key: name its file in sslkey')
  const key = readOf('sslkey', keyFile)
  const wrong = (problem: string) => new Error(`sslkey: the file ${keyFile} ${problem}`)
  if (/ENCRYPTED/.test(key)) throw wrong('has a password, which is not supported')
  let read: KeyObject
  try {
    read = createPrivateKey(key)
  } catch {
    throw wrong('has no key in PEM')
  }
  if (!new X509Certificate(cert).checkPrivateKey(read)) throw wrong(`is not the key of ${certFile}`)
  return { cert, key }
}

/** One or several, of which the first is looked at. */
function certificateOf(option: string, file: string): string {
  const pem = readOf(option, file)
  try {
    void new X509Certificate(pem)
  } catch (error) {
    throw new Error(`${option}: the file ${file} has no certificate in PEM`, { cause: error })
  }
  return pem
}

function readOf(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`${option}: the file ${file} cannot be read`, { cause: error })
  }
}
