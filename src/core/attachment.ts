/** Of one file, and of the files of one mismatch. */
export const attachmentBytesMax = 5 * 1024 * 1024
export const attachmentsMax = 20

const nameMax = 200

/** Without folders, and without characters that control a terminal or are refused in names of files. */
export function attachmentName(text: string): string {
  const name = (text.split(/[/\\]/).at(-1) ?? '')
    .replaceAll(/[\p{C}<>:"|?*]/gu, '_')
    .replace(/^\.+/, '')
    .trim()
  return name === '' ? 'file' : name.slice(-nameMax)
}
