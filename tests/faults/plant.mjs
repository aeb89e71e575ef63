// node tests/faults/plant.mjs [name ...] [-- options of run.mjs]
// Plants each named bug in a copy of the built checkout, one after another. Runs the fault test on each copy until a
// violation is found or the run ends. Fails if the test does not find a bug. Without names, plants all bugs.
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drillPlants, plants } from './plants.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))
const args = process.argv.slice(2)
const divider = args.includes('--') ? args.indexOf('--') : args.length
const names = divider === 0 ? Object.keys(plants) : args.slice(0, divider)
const options = args.slice(divider + 1)

/** Copies the parts of the checkout that run: its packages with their builds. The dependencies are linked. */
function copyBuild(to) {
  for (const group of ['apps', 'packages']) {
    for (const name of readdirSync(join(root, group))) {
      for (const part of ['package.json', 'dist', 'migrations', 'providers', 'node_modules']) {
        const from = join(root, group, name, part)
        if (existsSync(from)) cpSync(from, join(to, group, name, part), { recursive: true, verbatimSymlinks: true })
      }
      withoutSources(join(to, group, name, 'package.json'))
    }
  }
  cpSync(join(root, 'scripts'), join(to, 'scripts'), { recursive: true })
  cpSync(join(root, 'package.json'), join(to, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(to, 'node_modules'))
}

/**
 * Makes the driver load the builds of the copy, because the sources, to which it would resolve packages, are not
 * copied.
 */
function withoutSources(path) {
  const { exports, ...rest } = JSON.parse(readFileSync(path, 'utf8'))
  const built = JSON.stringify({ ...rest, exports }, (key, value) => (key === '@gateway/source' ? undefined : value), 2)
  writeFileSync(path, built)
}

function plant(name, copy) {
  for (const { file, from, to } of drillPlants[name]?.changes ?? plants[name]) {
    const path = join(copy, file)
    const before = readFileSync(path, 'utf8')
    if (before.split(from).length !== 2) throw new Error(`"${name}" no longer fits ${file}`)
    writeFileSync(
      path,
      before.replace(from, () => to),
    )
  }
}

const run = (copy, name) =>
  new Promise((resolve) => {
    const always = ['--root', copy, '--remove-logs', '--until-broken']
    const drill = drillPlants[name]
    const commandLine =
      drill === undefined
        ? [join(here, 'run.mjs')]
        : [join(root, 'tests/drill/run.mjs'), 'failover', '--form', drill.form]
    const child = spawn(process.execPath, [...commandLine, ...always, ...options])
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text) => (out += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (out += text))
    child.on('close', (code) => resolve({ code, out }))
  })

/** Returns the seconds from the start of the load to the line with the result. */
function secondsOf(out) {
  const [began, ended] = [/^(\S+) all processes listen$/m, /^(\S+) promises were broken$/m].map(
    (line) => line.exec(out)?.[1],
  )
  return Math.round((new Date(ended) - new Date(began)) / 1000)
}

let missed = 0
for (const name of names) {
  if (!(name in plants) && !(name in drillPlants)) throw new Error(`there is no plant "${name}"`)
  const copy = mkdtempSync(join(tmpdir(), 'gw-plant-'))
  try {
    copyBuild(copy)
    plant(name, copy)
    const { code, out } = await run(copy, name)
    const found = out.split('\n').filter((line) => /^(?:P-\d+|no process ends by itself): /.test(line))
    const seed = /seed \d+/.exec(out)?.[0] ?? ''
    // A run that did not end proves nothing.
    if (code === 1 && found.length > 0) {
      const first = new Map(found.map((line) => [line.split(':')[0], line]).reverse())
      console.log(
        `${name}: found after ${secondsOf(out)} s (${seed})${[...first.values()].map((line) => `\n  ${line}`).join('')}`,
      )
    } else {
      missed++
      console.log(`${name}: NOT found (${seed}, exit code ${code})\n${out}`)
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
process.exitCode = missed === 0 ? 0 : 1
