/**
 * Measures the time from the first command of the README to a message that a browser shows as delivered, with a clone,
 * the package and the image, each with an empty home folder, so that nothing comes from an earlier installation. Needs
 * a built checkout; Chromium, the packed files and the base image are prepared before and not measured. The image needs
 * root and the requirements of deploy/image/build.sh; IMAGES is the folder of its base image.
 *
 * npx pnpm build && node deploy/newcomers.mjs [clone] [npx] [image]
 */
import { runSources } from '../scripts/run-sources.mjs'

runSources(new URL('../tests/newcomers/main.ts', import.meta.url))
