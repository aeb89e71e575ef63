/**
 * Measures the time from the first command of the README until a browser shows a message as delivered: with a clone,
 * with the package and with the image. Each run has an empty home folder, so that it uses nothing from an earlier
 * installation. Needs a built checkout. Chromium, the packed files and the base image are prepared before, which is not
 * measured. The image needs root and the requirements of deploy/image/build.sh; IMAGES is the folder of its base image.
 *
 * npx pnpm build && node deploy/newcomers.mjs [clone] [npx] [image]
 */
import { runSources } from '../scripts/run-sources.mjs'

runSources(new URL('../tests/newcomers/main.ts', import.meta.url))
