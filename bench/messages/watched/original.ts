/** The module of the gateway in whose place the module at `url` stands. */
export function originalOf<T>(url: string): Promise<T> {
  const original = new URL(url).searchParams.get("original");
  if (original === null) throw new Error(`${url} stands in no module's place`);
  return import(original);
}
