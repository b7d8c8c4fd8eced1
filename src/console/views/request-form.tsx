import type { RequestField } from "../../northbound/web/api/command.ts";
import {
  chosenOf,
  emptyOf,
  type FormObject,
  type FormProblem,
  type FormValue,
  groupsOf,
  isMessage,
  isShown,
  withChoice,
} from "../commanding/form.ts";
import { type Offers, offersFor } from "../commanding/offers.ts";
import { fieldText, say } from "../texts/texts.ts";

interface FormParts {
  readonly problem: FormProblem | null;
  readonly offers: Offers;
}

/** The fields of a message, as the operation describes them. */
export function RequestFields(props: {
  readonly fields: readonly RequestField[];
  /** The path of the message, as the gateway names it in refusals; empty: the request itself. */
  readonly path: string;
  readonly value: FormObject;
  readonly set: (value: FormObject) => void;
  readonly form: FormParts;
}) {
  const { fields, path, value, set, form } = props;
  const fieldOf = (field: RequestField) => (
    <Field
      key={field.name}
      field={field}
      path={path === "" ? field.json_name : `${path}.${field.json_name}`}
      value={value[field.json_name] ?? emptyOf(field)}
      set={(next) => set({ ...value, [field.json_name]: next })}
      form={form}
    />
  );
  return (
    <>
      {groupsOf(fields.filter(isShown)).map((group) => {
        if (group.kind === "field") return fieldOf(group.field);
        const chosen = chosenOf(group.fields, value);
        return (
          <div class="choice" key={group.name}>
            <label for={`${path}#${group.name}`}>{fieldText(group.name)}</label>{" "}
            <select
              id={`${path}#${group.name}`}
              value={chosen?.json_name ?? ""}
              onChange={({ currentTarget }) =>
                set(withChoice(group.fields, value, currentTarget.value === "" ? null : currentTarget.value))
              }
            >
              <option value="">{say("form.none")}</option>
              {group.fields.map(({ name, json_name: own }) => (
                <option key={own} value={own}>
                  {fieldText(name)}
                </option>
              ))}
            </select>
            {chosen !== null && fieldOf(chosen)}
          </div>
        );
      })}
    </>
  );
}

interface FieldProps {
  readonly field: RequestField;
  readonly path: string;
  readonly value: FormValue;
  readonly set: (value: FormValue) => void;
  readonly form: FormParts;
}

function Field({ field, path, value, set, form }: FieldProps) {
  const plain = fieldText(field.name);
  const name = field.required ? say("form.required", { field: plain }) : plain;
  if (!field.list && !isMessage(field)) return <Input {...{ field, path, value, set, form, name }} />;
  const items = field.list && Array.isArray(value) ? (value as readonly FormValue[]) : [];
  const one = { ...field, list: false };
  return (
    <fieldset>
      <legend>{name}</legend>
      <Problem path={path} form={form} />
      {!field.list && <Message {...{ field, path, value, set, form }} />}
      {items.map((item, at) => (
        <div class="item" key={at}>
          <Item
            field={one}
            path={`${path}.${at}`}
            value={item}
            set={(next) => set(items.map((each, index) => (index === at ? next : each)))}
            form={form}
            name={say("form.item", { field: plain, number: at + 1 })}
          />
          <button type="button" onClick={() => set(items.filter((_, index) => index !== at))}>
            {say("form.remove")}
            <span class="unseen"> {say("form.item", { field: plain, number: at + 1 })}</span>
          </button>
        </div>
      ))}
      {field.list && (
        <button type="button" onClick={() => set([...items, emptyOf(one)])}>
          {say("form.add", { field: plain })}
        </button>
      )}
    </fieldset>
  );
}

function Item(props: FieldProps & { readonly name: string }) {
  return isMessage(props.field) ? <Message {...props} /> : <Input {...props} />;
}

function Message({ field, path, value, set, form }: FieldProps) {
  const own = typeof value === "object" && !Array.isArray(value) ? (value as FormObject) : {};
  return <RequestFields fields={field.fields} path={path} value={own} set={set} form={form} />;
}

/** One value. Known values are offered, and any other is accepted too. */
function Input(props: FieldProps & { readonly name: string }) {
  const { field, path, form, name } = props;
  const offers = offersFor(field, form.offers);
  return (
    <p class="field">
      <label for={path}>{name}</label> <Control {...props} hasOffers={offers.length > 0} />
      {offers.length > 0 && (
        <datalist id={`${path}-offers`}>
          {offers.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
      <Problem path={path} form={form} />
    </p>
  );
}

function Control({ field, path, value, set, form, hasOffers }: FieldProps & { readonly hasOffers: boolean }) {
  const isWrong = form.problem?.path === path;
  const described = isWrong ? { "aria-describedby": `${path}-problem` } : {};
  const shared = { id: path, "aria-invalid": isWrong, ...described };
  if (typeof value === "boolean") {
    return (
      <input
        type="checkbox"
        checked={value}
        {...shared}
        onChange={({ currentTarget }) => set(currentTarget.checked)}
      />
    );
  }
  if (field.values.length === 0) {
    const list = hasOffers ? { list: `${path}-offers` } : {};
    return (
      <input
        value={String(value)}
        autocomplete="off"
        {...list}
        {...shared}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
    );
  }
  return (
    <select value={String(value)} {...shared} onChange={({ currentTarget }) => set(currentTarget.value)}>
      <option value="">{say("form.none")}</option>
      {field.values.slice(1).map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
}

function Problem({ path, form: { problem } }: { readonly path: string; readonly form: FormParts }) {
  if (problem?.path !== path) return null;
  return (
    <span class="wrong" id={`${path}-problem`} role="alert">
      {" "}
      {say("form.problem", { problem: problem.text })}
    </span>
  );
}
