import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ConnectionOptions } from 'node:tls'
import { noServersKnown, type KnownServers } from './known-servers.ts'

/** TLS options, with certificates and keys as text. */
export type DatabaseTls = ConnectionOptions & { readonly ca?: string; readonly cert?: string }

/** Host name, IP address or folder of a Unix socket, with the port. */
export interface Host {
  readonly host: string
  readonly port: number
}

/** Address of a database and how to connect to it, without a secret that a log could show. */
export interface ServerAddress {
  /** URL without its TLS options, and with a placeholder for several hosts. */
  readonly connectionString: string
  /** At least one host, in the order of the URL. */
  readonly hosts: readonly Host[]
  /** True if only a server that accepts writes may be used. */
  readonly isPrimaryWanted: boolean
  /** Options for node's TLS; undefined for connections without TLS. */
  readonly tls: DatabaseTls | undefined
  /** True if connections continue without TLS when the server has none. */
  readonly plainIfRefused: boolean
  readonly known: KnownServers
}

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type Mode = (typeof modes)[number]
type Environment = Readonly<Record<string, string | undefined>>

/**
 * Parses `sslmode`, `sslrootcert`, `sslcert` and `sslkey` of a URL, else the environment variables `PGSSLMODE`,
 * `PGSSLROOTCERT`, `PGSSLCERT` and `PGSSLKEY`, as libpq does (PostgreSQL documentation, "SSL Support"), with these
 * differences:
 *
 * - `allow` means `prefer`.
 * - `prefer` does not retry without TLS if a server with TLS refuses the connection.
 * - `verify-full` without a root certificate trusts the authorities that node trusts (libpq: `sslrootcert=system`).
 *
 * A Unix socket never uses TLS.
 *
 * Several hosts are parsed as in libpq ("Specifying Multiple Hosts"), else `PGHOST` and `PGPORT` are used. The values
 * `read-write` and `primary` of `target_session_attrs`, else `PGTARGETSESSIONATTRS`, require a server that accepts
 * writes. With several hosts that is always required (in libpq only if it is set), because the gateway has to write.
 *
 * Throws an Error that names the option for an unknown mode, an unreadable or wrong file, `verify-ca` without a root
 * certificate, a number of ports that does not match the hosts, and a `target_session_attrs` that allows only reading.
 */
export function serverAddress(connectionString: string, env: Environment = process.env): ServerAddress {
  const [place = '', query = ''] = connectionString.split(/\?(.*)/s)
  const parameters = new URLSearchParams(query)
  const option = (name: string): string | undefined => {
    const value = parameters.get(name) ?? env[`PG${name.toUpperCase().replaceAll('_', '')}`]
    parameters.delete(name)
    return value === undefined || value.trim() === '' ? undefined : value
  }
  const files = { root: option('sslrootcert'), cert: option('sslcert'), key: option('sslkey') }
  const mode = modeOf(option('sslmode'), files.root)
  const isPrimaryWanted = wantsPrimary(option('target_session_attrs') ?? 'any')
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
    known: noServersKnown(),
    plainIfRefused: mode === 'prefer' || mode === 'allow',
  }
}

/** Certificates in PEM that an option names. */
export interface DatabaseCertificates {
  readonly of: string
  readonly are: 'chain' | 'authorities'
  readonly pem: string
}

/** Returns the certificates of an address, each with its option. */
export const certificatesOf = ({ tls }: ServerAddress): readonly DatabaseCertificates[] => [
  ...(tls?.ca === undefined ? [] : [{ of: 'database sslrootcert', are: 'authorities' as const, pem: tls.ca }]),
  ...(tls?.cert === undefined ? [] : [{ of: 'database sslcert', are: 'chain' as const, pem: tls.cert }]),
]

/** Matches the part of a URL before its path: scheme and user, then the hosts with their ports. */
const authority = /^([a-z]+:\/\/(?:[^@/]*@)?)([^/?]*)/i

/** Placeholder for several hosts, because the driver accepts one; `primary.ts` sets the host of each connection. */
const nowhere = 'several.invalid'

const defaultPort = '5432'

/** Parses the hosts. Query parameters take precedence over the authority, and the authority over the environment. */
function hostsOf(place: string, parameters: URLSearchParams, env: Environment): readonly Host[] {
  const placed = (authority.exec(place)?.[2] ?? '').split(',').map((text) => {
    const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(text) ?? []
    return { host: decodeURIComponent(host.replace(/^\[(.*)\]$/, '$1')), port }
  })
  const valuesOf = (name: string, own: readonly string[]) =>
    parameters.get(name)?.split(',') ?? (own.some(Boolean) ? own : (env[`PG${name.toUpperCase()}`] ?? '').split(','))
  const hosts = valuesOf('host', placed.map(({ host }) => host)) // prettier-ignore
  const ports = valuesOf('port', placed.map(({ port }) => port)) // prettier-ignore
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

/**
 * Parses `sslmode`. The authorities of the system require `verify-full`, because anybody can get a certificate from
 * them for some name.
 */
function modeOf(option: string | undefined, root: string | undefined): Mode {
  const text = option ?? (root === 'system' ? 'verify-full' : 'prefer')
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

/** Reads the client certificate and its key. */
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

/** Reads a file with one or several certificates, and checks the first one. */
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
