import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chromium, type Browser } from 'playwright-core'
import { root } from '../support/process.ts'

/**
 * True if a browser can be started. The package contains Chromium for Linux on x64 only. On other machines the variable
 * `CHROMIUM` may name one.
 */
export const hasBrowser =
  process.env['CHROMIUM'] !== undefined || (process.platform === 'linux' && process.arch === 'x64')

/**
 * Program that unpacks Chromium into the folder for temporary files, together with libraries that a minimal machine
 * lacks.
 */
const unpack = `const { default: chromium } = await import('@sparticuz/chromium')
await chromium.executablePath()`

/** Unpacks the Chromium of the package once per machine. The folder gets its name only when it is complete. */
async function unpacked(): Promise<string> {
  const about = await readFile(join(root, 'node_modules/@sparticuz/chromium/package.json'), 'utf8')
  const { version } = JSON.parse(about) as { version: string }
  const folder = join(tmpdir(), `gateway-chromium-${version}`)
  if (existsSync(folder)) return folder
  const part = await mkdtemp(`${folder}-`)
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', unpack], {
    cwd: root,
    env: { ...process.env, TMPDIR: part, AWS_LAMBDA_JS_RUNTIME: 'nodejs20.x' },
  })
  const fonts = `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>`
  await writeFile(join(part, 'fonts.conf'), fonts)
  // Another run may have created the folder first.
  await rename(part, folder).catch(() => rm(part, { recursive: true, force: true }))
  return folder
}

/**
 * Starts a browser without a window. It always uses the one font of the package, so that pages have the same width
 * everywhere.
 */
export async function startBrowser(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none']
  const own = process.env['CHROMIUM']
  if (own !== undefined) return chromium.launch({ executablePath: own, args })
  const folder = await unpacked()
  const env = { LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'), FONTCONFIG_FILE: join(folder, 'fonts.conf') }
  const inherited = Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return chromium.launch({
    ...{ executablePath: join(folder, 'chromium'), args },
    env: { ...(Object.fromEntries(inherited) as Record<string, string>), ...env },
  })
}
