import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './process.ts'
import { tarball } from './tarball.ts'

interface Manifest {
  readonly name: string
  readonly version: string
}

interface Held {
  readonly manifest: Manifest
  readonly bytes: () => Promise<Buffer>
}

export interface Registry {
  readonly url: string
  close(): Promise<void>
}

const store = join(root, 'node_modules', '.pnpm')

/**
 * Starts an npm registry on loopback. It contains exactly the packages that are installed in this checkout, and the
 * packed packages in a folder.
 */
export async function startRegistry(packed?: string): Promise<Registry> {
  const installed = new Map<
    string,
    Map<string, { readonly manifest: Manifest; readonly bytes: () => Promise<Buffer> }>
  >()
  const add = (text: string, bytes: () => Promise<Buffer>) => {
    const manifest = JSON.parse(text) as Manifest
    const versions = installed.get(manifest.name) ?? new Map<string, Held>()
    installed.set(manifest.name, versions.set(manifest.version, { manifest, bytes }))
  }
  for (const path of await installedPaths())
    add(await readFile(join(path, 'package.json'), 'utf8'), () => tarball(path))
  for (const name of packed === undefined ? [] : await readdir(packed)) {
    const file = join(packed ?? '', name)
    const { stdout } = await promisify(execFile)('tar', ['-xzOf', file, 'package/package.json'])
    add(stdout, () => readFile(file))
  }
  const server = createServer((request, response) => {
    const [name = '', version] = decodeURIComponent(request.url?.slice(1) ?? '').split('/-/')
    const versions = installed.get(name)
    const file = version === undefined ? undefined : versions?.get(version)
    if (versions === undefined || (version !== undefined && file === undefined)) response.writeHead(404).end('{}')
    else if (file === undefined) response.end(JSON.stringify(packument(name, versions, urlOf(server))))
    else
      file.bytes().then(
        (bytes) => response.end(bytes),
        (error: unknown) => response.writeHead(500).end(String(error)),
      )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: urlOf(server),
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/**
 * Lists the package folders of the pnpm store. Links to packages are omitted, because each package has a folder of its
 * own.
 */
async function installedPaths(): Promise<string[]> {
  const paths: string[] = []
  for (const entry of await readdir(store)) {
    const modules = join(store, entry, 'node_modules')
    for (const found of await readdir(modules, { withFileTypes: true }).catch(() => [])) {
      if (!found.isDirectory() || found.name.startsWith('.')) continue
      if (!found.name.startsWith('@')) paths.push(join(modules, found.name))
      else
        for (const scoped of await readdir(join(modules, found.name), { withFileTypes: true }))
          if (scoped.isDirectory()) paths.push(join(modules, found.name, scoped.name))
    }
  }
  return paths
}

/** Returns the document about a package that npm requests first. It lists the versions. */
const packument = (name: string, versions: ReadonlyMap<string, { readonly manifest: Manifest }>, url: string) => ({
  name,
  'dist-tags': { latest: [...versions.keys()].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1) },
  versions: Object.fromEntries(
    [...versions].map(([version, { manifest }]) => [
      version,
      { ...manifest, dist: { tarball: `${url}/${encodeURIComponent(name)}/-/${version}` } },
    ]),
  ),
})
