import { setPriority } from 'node:os'
import type { Target } from './attack.ts'
import { attacks } from './attacks/index.ts'
import { answers } from './flood.ts'

const [, , title, argument = ''] = process.argv
const target = JSON.parse(argument) as Target
// A real attacker runs on a machine of its own, so this process has a low priority. Beside other tests it needs a
// higher priority to get any processor time.
setPriority(target.full ? 10 : 5)

const attack = attacks.find((one) => one.title === title)
if (attack === undefined) throw new Error(`there is no attack "${String(title)}"`)
attack.run(target)
setInterval(() => process.stdout.write(`${JSON.stringify([...answers])}\n`), 200)
